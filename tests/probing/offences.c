/* Offences of moves as contrib/xqgame.c has them, which no function of its header tells.
 *
 *     offences RULES    records from stdin: side, 90 piece codes, two squares
 *                       to stdout one number each: 0 idle, 1 a new attack, 2 a check
 */
#include "../../contrib/xqgame.c"

#include <stdio.h>

int main(int argc, char **argv)
{
    xq_rules rules;
    uint8_t record[1 + SQUARES + 2];
    if (argc != 2 || xq_rules_of_name(argv[1], &rules) != XQ_OK)
        return 2;
    while (fread(record, sizeof record, 1, stdin) == 1)
        printf("%d\n", (int)offence_of(record + 1, record[0],
                                       take(record[1 + SQUARES], record[2 + SQUARES]), rules));
    return 0;
}
