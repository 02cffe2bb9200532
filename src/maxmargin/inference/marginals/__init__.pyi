from .directions import connected as connected
