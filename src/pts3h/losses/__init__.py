"""The terms of the loss, one file an idea: tensors in, a scalar out."""
