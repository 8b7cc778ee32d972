import sys

from tilery.cli import main

sys.exit(main())
