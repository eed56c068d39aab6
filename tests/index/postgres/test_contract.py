"""The contract on a real Postgres server."""

import pytest

from ..contract_suite import ContractSuite

pytestmark = pytest.mark.postgres


class PostgresEngine:
    def __init__(self, postgres):
        self.postgres = postgres
        self.addresses = {}

    def create(self, bits, **more):
        return self._open(self.postgres.address(), bits, **more)

    def reopen(self, index, bits=None, **more):
        index.close()
        return self._open(self.addresses[index], bits, **more)

    def _open(self, address, bits, **more):
        index = self.postgres.open(address, bits=bits, **more)
        self.addresses[index] = address
        return index


class TestPostgres(ContractSuite):
    @pytest.fixture
    def engine(self, postgres):
        return PostgresEngine(postgres)
