"""The Milvus engine: the same contract, beyond one machine."""
