"""The search page and its server: people search, answer questions, retrain and compare."""
