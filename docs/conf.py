"""How sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "qwo"
author = "The qwo authors"
project_copyright = author
release = metadata.version("qwo")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "extensions.commands",
    "extensions.docstrings",
    "extensions.drawn",
    "extensions.names",
    "extensions.toctree",
]

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Two hyphens are part of an option or an arrow, not a dash.
smartquotes = False
default_role = "py:obj"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autosummary_generate = False
maximum_signature_line_length = 88
napoleon_google_docstring = False
# Links from names of attributes and words of types would lead to the same words elsewhere.
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"qwo {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
pygments_dark_style = "github-dark"
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#7fb4ee", "color-brand-content": "#7fb4ee"},
}
# Prompts are not copied, and neither is what a command prints.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
