"""What the documentation needs beside sphinx's own extensions."""
