"""A drawing of one column of numbers: bars on a scale on which each line is ten times the one before."""

from math import ceil, floor, log10

WIDTH, LEFT, RIGHT, BAR, STEP, TOP = 760, 230, 70, 16, 26, 34
OURS, OTHERS, INK, LINE = "#2f6fb2", "#9aa4ad", "#24292f", "#d0d7de"
STYLE = f'font-family="sans-serif" font-size="12" fill="{INK}"'


def chart(title: str, bars: list[tuple[str, float, bool]]) -> str:
    """An SVG of milliseconds by name, shortest first; bars of ours have their own colour."""
    low, high = floor(log10(min(value for _, value, _ in bars))), ceil(log10(max(value for _, value, _ in bars)))
    scale = (WIDTH - LEFT - RIGHT) / max(high - low, 1)
    height = TOP + STEP * len(bars) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" {STYLE}>',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-size="14">{title}</text>',
    ]
    for power in range(low, high + 1):
        parts += grid(LEFT + (power - low) * scale, height, power)
    for number, (name, value, is_ours) in enumerate(sorted(bars, key=lambda bar: bar[1])):
        parts += bar(name, value, (log10(value) - low) * scale, TOP + number * STEP, OURS if is_ours else OTHERS)
    return "\n".join([*parts, "</svg>", ""])


def grid(x: float, height: int, power: int) -> list[str]:
    """One line of the scale, and what it stands for."""
    label = f"{10**power:g} ms"
    return [
        f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 18}" stroke="{LINE}"/>',
        f'<text x="{x:.1f}" y="{height - 5}" text-anchor="middle" font-size="11">{label}</text>',
    ]


def bar(name: str, value: float, length: float, y: int, colour: str) -> list[str]:
    """One bar with its name before it and its number behind it."""
    return [
        f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{name}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{max(length, 1):.1f}" height="{BAR}" rx="2" fill="{colour}"/>',
        f'<text x="{LEFT + max(length, 1) + 6:.1f}" y="{y + 12}">{value:.2f}</text>',
    ]
