"""The element functions in Python, once for all libraries; bench/formulas.h has the same."""

from collections.abc import Callable
from typing import Any

Formula = Callable[..., Any]


def make_formula(name: str, m: Any, number: Callable[[float], Any] = float) -> Formula:
    """Return the function of this name.

    Parameters
    ----------
    name : str
        A workload.
    m : module or similar
        Has the mathematical functions; an AttributeError tells that one is missing.
    number : callable
        Makes constants, for libraries in which a plain one would widen the result.
    """
    return _MAKERS[name](m, number)


def is_formula(name: str) -> bool:
    return name in _MAKERS


def make_scaled_wave(m: Any, factor: Any) -> Formula:
    """Return a wave that differs from others by a factor, so that no cache knows it."""
    sin, cos, exp = m.sin, m.cos, m.exp

    def scaled_wave(x: Any) -> Any:
        return (sin(x) + cos(x) * exp(x)) * factor

    return scaled_wave


def _wave(m: Any, number: Callable[[float], Any]) -> Formula:
    sin, cos, exp = m.sin, m.cos, m.exp

    def wave(x: Any) -> Any:
        return sin(x) + cos(x) * exp(x)

    return wave


def _square(m: Any, number: Callable[[float], Any]) -> Formula:
    def square(x: Any) -> Any:
        return x * x

    return square


def _poly(m: Any, number: Callable[[float], Any]) -> Formula:
    first = number(1 / 17)
    coefficients = tuple(number(1 / k) for k in range(16, 0, -1))

    def poly(x: Any) -> Any:
        p = first
        for c in coefficients:
            p = p * x + c
        return p

    return poly


def _black_scholes(m: Any, number: Callable[[float], Any]) -> Formula:
    log, sqrt, exp, erf = m.log, m.sqrt, m.exp, m.erf
    drift = number(0.02 + 0.3 * 0.3 / 2)
    minus_interest, volatility = number(-0.02), number(0.3)
    half, one, root_half = number(0.5), number(1), number(0.5**0.5)

    def black_scholes(spot: Any, strike: Any, time: Any) -> Any:
        spread = volatility * sqrt(time)
        d1 = (log(spot / strike) + drift * time) / spread
        d2 = d1 - spread
        n1 = half * (one + erf(d1 * root_half))
        n2 = half * (one + erf(d2 * root_half))
        return spot * n1 - strike * exp(minus_interest * time) * n2

    return black_scholes


def _sine_chain(m: Any, number: Callable[[float], Any]) -> Formula:
    sin = m.sin

    def sine_chain(x: Any) -> Any:
        for _ in range(100):
            x = sin(x)
        return x

    return sine_chain


def _saxpy(m: Any, number: Callable[[float], Any]) -> Formula:
    a = number(2.5)

    def saxpy(x: Any, y: Any) -> Any:
        return a * x + y

    return saxpy


def _alone(name: str) -> Callable[[Any, Callable[[float], Any]], Formula]:
    def make(m: Any, number: Callable[[float], Any]) -> Formula:
        function = getattr(m, name)

        def alone(x: Any) -> Any:
            return function(x)

        return alone

    return make


def _pow(m: Any, number: Callable[[float], Any]) -> Formula:
    power = m.pow

    def alone(x: Any, y: Any) -> Any:
        return power(x, y)

    return alone


_MAKERS: dict[str, Callable[[Any, Callable[[float], Any]], Formula]] = {
    "wave": _wave,
    "square": _square,
    "poly": _poly,
    "black_scholes": _black_scholes,
    "sine_chain": _sine_chain,
    "saxpy": _saxpy,
    "pow": _pow,
    **{name: _alone(name) for name in ("exp", "log", "sin", "tanh")},
}
