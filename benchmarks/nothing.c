// The least that a program can do: what starting any program costs.

int main(void) {
    return 0;
}
