"""Encoding by many workers: items are divided into parts, each worker writes one shard per part."""
