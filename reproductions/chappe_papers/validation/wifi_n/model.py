"""Bianchi's model for saturated stations of 802.11n, with what follows a missed block acknowledgement.

All stations send to one more. An attempt fails with the probability that another station sends in the same slot.
After a failure of an A-MPDU the next attempts are requests for its block acknowledgement, so that a share 1 - p of all
attempts are A-MPDUs, and the rest are requests.
"""

from chappe_papers.validation.wifi_n.cases import PAYLOAD, Case

_SLOT, _SIFS, _AIFS = 9, 16, 43
_TIMEOUT = _SIFS + _SLOT + 20
_CW_MIN, _CW_MAX = 15, 1023

_BITS = {3: 104, 7: 260}
"""Data bits of a symbol of HT in 20 MHz."""


def _ht(size: int, mcs: int) -> int:
    """Time on air of a PSDU [us]."""
    return 36 + 4 * -(-(16 + 8 * size + 6) // _BITS[mcs])


def collisions(stations: int, attempts: int | None) -> tuple[float, float]:
    """Probabilities that an attempt fails, and that a station sends in a slot."""
    windows: list[int] = []
    cw = _CW_MIN
    while not windows or (len(windows) < attempts if attempts else cw > windows[-1]):
        windows.append(cw)
        cw = min(2 * cw + 1, _CW_MAX)

    def tau(p: float) -> float:
        # The last window is kept without a limit.
        weights = [p**i for i in range(len(windows))]
        if not attempts:
            weights[-1] /= 1 - p
        return sum(weights) / sum(w * (1 + cw / 2) for w, cw in zip(weights, windows, strict=True))

    low, high = 0.0, 0.999
    for _ in range(60):
        p = (low + high) / 2
        # The probability that one of the others sends falls when attempts fail more often.
        low, high = (p, high) if 1 - (1 - tau(p)) ** (stations - 1) > p else (low, p)
    return p, tau(p)


def bianchi(case: Case) -> float:
    """Goodput [bit/s]."""
    frames = 1
    if case.agg_limit:
        limit = min(65_535, case.agg_limit * 1544 + 8) if case.agg_limit != 999 else 65_535
        while (size := 1544 * (frames + 1) - 2) <= limit and _ht(size, case.mcs) <= 5484 and frames < 64:
            frames += 1
    data = _ht(1544 * frames - 2 if frames > 1 else 1538, case.mcs)
    answer = 32 if frames > 1 else 28
    p, tau = collisions(case.n, None if frames > 1 else 7)
    requests = p if frames > 1 and not case.rts else 0.0
    request = 32
    before = 28 + _SIFS + 28 + _SIFS if case.rts else 0
    idle = (1 - tau) ** case.n
    one = case.n * tau * (1 - tau) ** (case.n - 1)
    success = (1 - requests) * (before + data + _SIFS + answer) + requests * (request + _SIFS + 32)
    # Of two that collide the longer one counts.
    longest = 28 if case.rts else data * (1 - requests**2) + request * requests**2
    # The slot that the AIFS of an interrupted counter costs is part of AIFS.
    busy = _AIFS - _SLOT
    time = idle * _SLOT + one * (success + busy + _SLOT) + (1 - idle - one) * (longest + busy + _SLOT)
    return one * (1 - requests) * frames * PAYLOAD * 8 / time * 1e6
