"""Pictures of layouts, and what a function computes and moves."""

from .analyzer import AnalysisResult, Analyzer
from .plot_layout import plot_layout

__all__ = ["AnalysisResult", "Analyzer", "plot_layout"]
