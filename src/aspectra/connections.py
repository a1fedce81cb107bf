"""What both servers need beyond uvicorn: headers that arrive in time, and workers that are missed at once.

A thousand half-sent requests would hold all connections and lock everyone else out: headers have
HEADERS_WITHIN seconds.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

HEADERS_WITHIN = 10.0


class ImpatientProtocol(H11Protocol):
    """Closes a connection that waits too long for the rest of a request."""

    overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.overdue = self.loop.call_later(HEADERS_WITHIN, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.set_limit()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.set_limit()

    def set_limit(self) -> None:
        """Start the clock if headers are missing, or the rest of a body that is answered already."""
        theirs, answered = self.conn.their_state, self.conn.our_state is h11.DONE
        waiting = theirs is h11.IDLE or (theirs is h11.SEND_BODY and answered)
        if waiting and self.overdue is None:
            self.overdue = self.loop.call_later(HEADERS_WITHIN, self.transport.close)
        elif not waiting:
            self.headers_came()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is no HTTP after all; whoever answers it learns that nobody listens."""
        if self.cycle is not None and self.cycle.response_started:
            self.transport.close()
        else:
            super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.headers_came()
        super().connection_lost(exc)

    def headers_came(self) -> None:
        if self.overdue is not None:
            self.overdue.cancel()
            self.overdue = None


class Workers(Multiprocess):
    """Worker processes. One that dies while it starts is replaced at once, not when a start must be over.

    For that its end of the pipe must be open in no other process.
    """

    def init_processes(self) -> None:
        super().init_processes()
        self.let_go()

    def keep_subprocess_alive(self) -> None:
        super().keep_subprocess_alive()
        self.let_go()

    def let_go(self) -> None:
        for process in self.processes:
            process.child_conn.close()
