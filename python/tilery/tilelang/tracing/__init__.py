"""What happens while a function is traced: values, memory, loops, and the program that comes out."""
