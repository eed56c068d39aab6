"""The contract on a real Milvus server."""

import pytest

from ..contract_suite import ContractSuite

pytestmark = pytest.mark.milvus


class MilvusEngine:
    def __init__(self, milvus):
        self.milvus = milvus
        self.addresses = {}

    def create(self, bits, **more):
        address = self.milvus.address()
        index = self.milvus.open(address, bits=bits, **more)
        self.addresses[index] = address
        return index

    def reopen(self, index, bits=None, **more):
        address = self.addresses[index]
        index.close()
        index = self.milvus.open(address, bits=bits, **more)
        self.addresses[index] = address
        return index


class TestMilvus(ContractSuite):
    examples = 3  # each creates a collection, which takes two seconds; test_answers.py has a long history

    @pytest.fixture
    def engine(self, milvus):
        return MilvusEngine(milvus)
