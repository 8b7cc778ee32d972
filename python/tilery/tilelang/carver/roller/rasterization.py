"""The order in which blocks are visited."""


class Rasterization:
    """Blocks in panels of so many columns; `T.use_swizzle(panel_width)`."""

    def __init__(self, panel_width: int = 4) -> None:
        self.panel_width_ = panel_width

    def get_panel_width(self) -> int:
        return self.panel_width_


class NoRasterization(Rasterization):
    """Blocks row by row."""

    def __init__(self) -> None:
        super().__init__(1)

    def __repr__(self) -> str:
        return "<NoRasterization>"


class Rasterization2DRow(Rasterization):
    """Panels of rows."""

    def __repr__(self) -> str:
        return f"<Rasterization2DRow({self.panel_width_})>"


class Rasterization2DColumn(Rasterization):
    """Panels of columns."""

    def __repr__(self) -> str:
        return f"<Rasterization2DColumn({self.panel_width_})>"
