"""A step of Tsitouras' Runge-Kutta method 5(4), once for all libraries.

The makers take `compile`, which makes a function of the library of a Python function, and the
library's `maximum`. A step gets the slope at its start and returns the slope at its end.
"""

from collections.abc import Callable
from typing import Any

from ..tsit5 import ERROR, STAGES

Compile = Callable[[Callable[..., Any]], Any]

TOLERANCE = 1e-6  # absolute and relative

# Names of their own: compiled functions read no tables.
(_A21,) = STAGES[0]
_A31, _A32 = STAGES[1]
_A41, _A42, _A43 = STAGES[2]
_A51, _A52, _A53, _A54 = STAGES[3]
_A61, _A62, _A63, _A64, _A65 = STAGES[4]
_A71, _A72, _A73, _A74, _A75, _A76 = STAGES[5]
_B1, _B2, _B3, _B4, _B5, _B6, _B7 = ERROR


def _stage2(y: Any, h: Any, k1: Any) -> Any:
    return y + h * (_A21 * k1)


def _stage3(y: Any, h: Any, k1: Any, k2: Any) -> Any:
    return y + h * (_A31 * k1 + _A32 * k2)


def _stage4(y: Any, h: Any, k1: Any, k2: Any, k3: Any) -> Any:
    return y + h * (_A41 * k1 + _A42 * k2 + _A43 * k3)


def _stage5(y: Any, h: Any, k1: Any, k2: Any, k3: Any, k4: Any) -> Any:
    return y + h * (_A51 * k1 + _A52 * k2 + _A53 * k3 + _A54 * k4)


def _stage6(y: Any, h: Any, k1: Any, k2: Any, k3: Any, k4: Any, k5: Any) -> Any:
    return y + h * (_A61 * k1 + _A62 * k2 + _A63 * k3 + _A64 * k4 + _A65 * k5)


def _stage7(y: Any, h: Any, k1: Any, k2: Any, k3: Any, k4: Any, k5: Any, k6: Any) -> Any:
    return y + h * (_A71 * k1 + _A72 * k2 + _A73 * k3 + _A74 * k4 + _A75 * k5 + _A76 * k6)


def _make_error(maximum: Callable[..., Any]) -> Callable[..., Any]:
    def error(
        y: Any, new: Any, h: Any, k1: Any, k2: Any, k3: Any, k4: Any, k5: Any, k6: Any, k7: Any
    ) -> Any:
        e = h * (_B1 * k1 + _B2 * k2 + _B3 * k3 + _B4 * k4 + _B5 * k5 + _B6 * k6 + _B7 * k7)
        return abs(e) / (TOLERANCE + TOLERANCE * maximum(abs(y), abs(new)))

    return error


def make_lorenz(compile: Compile, maximum: Callable[..., Any]) -> tuple[Any, Any]:
    """Return the slope of Lorenz' system and a step.

    ``slope(rho, x, y, z)``; ``step(rho, h, x, y, z, slope of x, of y, of z)`` returns the new
    state, its slope and the error in tolerances.
    """
    stage2, stage3, stage4 = compile(_stage2), compile(_stage3), compile(_stage4)
    stage5, stage6, stage7 = compile(_stage5), compile(_stage6), compile(_stage7)
    error = compile(_make_error(maximum))

    @compile
    def slope(rho: Any, x: Any, y: Any, z: Any) -> Any:
        return 10.0 * (y - x), x * (rho - z) - y, x * y - (8 / 3) * z

    @compile
    def step(rho: Any, h: Any, x: Any, y: Any, z: Any, x1: Any, y1: Any, z1: Any) -> Any:
        x2, y2, z2 = slope(rho, stage2(x, h, x1), stage2(y, h, y1), stage2(z, h, z1))
        x3, y3, z3 = slope(rho, stage3(x, h, x1, x2), stage3(y, h, y1, y2), stage3(z, h, z1, z2))
        x4, y4, z4 = slope(
            rho,
            stage4(x, h, x1, x2, x3),
            stage4(y, h, y1, y2, y3),
            stage4(z, h, z1, z2, z3),
        )
        x5, y5, z5 = slope(
            rho,
            stage5(x, h, x1, x2, x3, x4),
            stage5(y, h, y1, y2, y3, y4),
            stage5(z, h, z1, z2, z3, z4),
        )
        x6, y6, z6 = slope(
            rho,
            stage6(x, h, x1, x2, x3, x4, x5),
            stage6(y, h, y1, y2, y3, y4, y5),
            stage6(z, h, z1, z2, z3, z4, z5),
        )
        new_x = stage7(x, h, x1, x2, x3, x4, x5, x6)
        new_y = stage7(y, h, y1, y2, y3, y4, y5, y6)
        new_z = stage7(z, h, z1, z2, z3, z4, z5, z6)
        x7, y7, z7 = slope(rho, new_x, new_y, new_z)
        err = maximum(
            error(x, new_x, h, x1, x2, x3, x4, x5, x6, x7),
            maximum(
                error(y, new_y, h, y1, y2, y3, y4, y5, y6, y7),
                error(z, new_z, h, z1, z2, z3, z4, z5, z6, z7),
            ),
        )
        return new_x, new_y, new_z, x7, y7, z7, err

    return slope, step


def make_van_der_pol(compile: Compile, maximum: Callable[..., Any]) -> tuple[Any, Any]:
    """Return the slope of Van der Pol's system and a step, as `make_lorenz` does."""
    stage2, stage3, stage4 = compile(_stage2), compile(_stage3), compile(_stage4)
    stage5, stage6, stage7 = compile(_stage5), compile(_stage6), compile(_stage7)
    error = compile(_make_error(maximum))

    @compile
    def slope(mu: Any, y: Any, v: Any) -> Any:
        return v, mu * (1.0 - y * y) * v - y

    @compile
    def step(mu: Any, h: Any, y: Any, v: Any, y1: Any, v1: Any) -> Any:
        y2, v2 = slope(mu, stage2(y, h, y1), stage2(v, h, v1))
        y3, v3 = slope(mu, stage3(y, h, y1, y2), stage3(v, h, v1, v2))
        y4, v4 = slope(mu, stage4(y, h, y1, y2, y3), stage4(v, h, v1, v2, v3))
        y5, v5 = slope(mu, stage5(y, h, y1, y2, y3, y4), stage5(v, h, v1, v2, v3, v4))
        y6, v6 = slope(mu, stage6(y, h, y1, y2, y3, y4, y5), stage6(v, h, v1, v2, v3, v4, v5))
        new_y = stage7(y, h, y1, y2, y3, y4, y5, y6)
        new_v = stage7(v, h, v1, v2, v3, v4, v5, v6)
        y7, v7 = slope(mu, new_y, new_v)
        err = maximum(
            error(y, new_y, h, y1, y2, y3, y4, y5, y6, y7),
            error(v, new_v, h, v1, v2, v3, v4, v5, v6, v7),
        )
        return new_y, new_v, y7, v7, err

    return slope, step
