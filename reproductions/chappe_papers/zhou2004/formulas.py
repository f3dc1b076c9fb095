"""Formulas for a flow that loses packets independently."""

import math


def mathis(rtt: float, loss: float) -> float:
    """Segments per second: sqrt(3/2) / (rtt sqrt(loss)) (Mathis, Semke, Mahdavi and Ott 1997)."""
    return math.sqrt(1.5) / (rtt * math.sqrt(loss))


def padhye(rtt: float, loss: float, timeout: float, window: int) -> float:
    """Segments per second that TCP Reno gets (Padhye, Firoiu, Towsley and Kurose 1998, equation 31, b = 1).

    Args:
        rtt: Round-trip time [s].
        loss: Share of the segments that is lost.
        timeout: Retransmission timeout before it is backed off [s].
        window: That the receiver advertises [segments].
    """
    p = loss
    unlimited = 1 + math.sqrt(8 * (1 - p) / (3 * p) + 1)
    w = min(unlimited, float(window))
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    q = min(1.0, (1 - (1 - p) ** 3) * (1 + (1 - p) ** 3 * (1 - (1 - p) ** (w - 3))) / (1 - (1 - p) ** w))
    rounds = w / 2 + 1 if unlimited < window else w / 8 + (1 - p) / (p * w) + 2
    return float(((1 - p) / p + w + q / (1 - p)) / (rtt * rounds + q * backoff * timeout / (1 - p)))
