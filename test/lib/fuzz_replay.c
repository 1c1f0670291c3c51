/* Runs a fuzz target over the files of a corpus folder, and over every cut-off prefix of the small ones: what
 * `make test` does where libFuzzer is not linked. At least one file must be there. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* A copy of the exact size, so that the address sanitizer sees a read behind it. */
    for (size_t cut = size > 4096 ? size : 0; cut <= size; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, bytes, cut);
        LLVMFuzzerTestOneInput(copy, cut);
        free(copy);
    }
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        struct dirent *entry;
        while (dir && (entry = readdir(dir))) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.')
                count += replay(path);
        }
        if (dir)
            closedir(dir);
    }
    printf("%d corpus files replayed\n", count);
    return count ? 0 : 1;
}
