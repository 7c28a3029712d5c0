"""A build backend that steps up to the repository, and leaves everything to meson-python there."""
import os

import mesonpy

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

build_sdist = mesonpy.build_sdist
build_wheel = mesonpy.build_wheel
build_editable = mesonpy.build_editable
get_requires_for_build_sdist = mesonpy.get_requires_for_build_sdist
get_requires_for_build_wheel = mesonpy.get_requires_for_build_wheel
get_requires_for_build_editable = mesonpy.get_requires_for_build_editable
