"""Work that takes longer than a moment runs in threads, so that the server goes on answering."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_in(pool: ThreadPoolExecutor, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What ``work`` returns, once a thread of the pool has done it."""
    return await asyncio.get_running_loop().run_in_executor(pool, lambda: work(*given, **named))
