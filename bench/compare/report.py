"""Tables of results and figures as text."""

from .driver import LABELS, Result
from .times import Figure


def _time(seconds: float) -> str:
    for unit, factor in (("s ", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def format_result(result: Result) -> str:
    lines = [str(result.case)]
    best = min(result.seconds.values(), default=0.0)
    for name, seconds in sorted(result.seconds.items(), key=lambda item: item[1]):
        label = LABELS.get(name, name)
        growth = result.growth.get(name, 0) / 2**20
        times = f"{_time(seconds):>10}  {seconds / best:>9.2f} x the best"
        line = f"  {label:<34} {times}  {growth:>+9.1f} MB"
        if result.case.is_tensor:
            line += f", first {result.first[name] / 2**20:+.1f}"
        lines.append(line)
    for name, why in result.missing.items():
        lines.append(f"  {LABELS.get(name, name):<34} {'missing':>10}  {why}")
    return "\n".join(lines)


def format_figures(figures: list[Figure]) -> str:
    lines = [f"{'figure':<68} {'measured':>11} {'bar':>13}"]
    for f in figures:
        measured = "none" if f.value is None else f"{f.value:.2f} {f.unit:<2}"
        sign = ">=" if f.at_least else "<="
        remark = "not available" if f.value is None else "missed" if f.is_missed else f.exempt
        text = f"{f.what:<68} {measured:>11} {sign} {f.bar:>7.2f} {f.unit:<2}  {remark}"
        lines.append(text.rstrip())
    missed = sum(f.is_missed for f in figures)
    absent = sum(f.value is None for f in figures)
    lines.append(f"{len(figures)} figures, {missed} missed, {absent} not available")
    return "\n".join(lines)
