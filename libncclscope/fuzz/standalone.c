/* standalone.c - runs a fuzz target over files, without libFuzzer: what was found once stays found. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        fseek(f, 0, SEEK_END);
        long size = ftell(f);
        rewind(f);
        uint8_t *data = malloc((size_t)size + 1);
        size_t got = data ? fread(data, 1, (size_t)size, f) : 0;
        fclose(f);
        LLVMFuzzerTestOneInput(data, got);
        free(data);
    }
    printf("%d inputs\n", argc - 1);
    return argc < 2;
}
