/* Probes of many positions by a program of any system, to be compared between systems.
 *
 *     windows_probes DIRECTORY RULES RECORDS ANSWERS
 *
 * Records are a side and ninety piece codes; to the file ANSWERS four int32 each: status, outcome,
 * order, plies. To stdout the number of tables, and of the files that were skipped.
 *
 *     windows_probes <DIRECTORIES
 *
 * Of every line of the input, which is the path of a directory, the number of tables under the rules wxf.
 */
#include "../../contrib/xqprobe.h"

#include <stdio.h>
#include <string.h>

enum { SQUARES = 90, RECORD = 91 };

/* Print the numbers of tables of directories. */
static int count_tables(void)
{
    char path[1024];
    while (fgets(path, sizeof path, stdin) != NULL) {
        xq_set *set = xq_set_new(XQ_RULES_WXF, 0, XQ_DTM);
        path[strcspn(path, "\r\n")] = 0;
        printf("%d\n", xq_add_directory(set, path));
        xq_set_free(set);
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint8_t record[RECORD], pieces[SQUARES], squares[SQUARES];
    xq_rules rules;
    if (argc == 1)
        return count_tables();
    if (argc != 5 || xq_rules_of_name(argv[2], &rules) != XQ_OK)
        return 2;
    xq_set *set = xq_set_new(rules, 0, XQ_DTM);
    int added = xq_add_directory(set, argv[1]), skipped = 0;
    if (xq_hold(set, (size_t)64 << 20) < 0)
        return 1;
    while (xq_skipped(set, (size_t)skipped, NULL) != NULL)
        skipped++;
    xq_reader *reader = xq_reader_new(set, (size_t)16 << 20);
    FILE *records = fopen(argv[3], "rb"), *answers = fopen(argv[4], "wb");
    if (records == NULL || answers == NULL)
        return 1;
    while (fread(record, RECORD, 1, records) == 1) {
        size_t count = 0;
        xq_value value = {0, 0, 0, 0, XQ_NO_METRIC};
        int wdl = 0;
        for (int square = 0; square < SQUARES; square++)
            if (record[1 + square] != 0) {
                pieces[count] = record[1 + square];
                squares[count++] = (uint8_t)square;
            }
        int status = xq_probe(reader, pieces, squares, count, record[0], &value);
        if (xq_probe_wdl(reader, pieces, squares, count, record[0], &wdl) == XQ_OK && wdl != value.wdl)
            return 3;
        int32_t answer[4] = {status, value.wdl, (int32_t)value.order, (int32_t)value.plies};
        fwrite(answer, sizeof answer, 1, answers);
    }
    printf("%d %d\n", added, skipped);
    fclose(records);
    fclose(answers);
    xq_reader_free(reader);
    xq_set_free(set);
    return 0;
}
