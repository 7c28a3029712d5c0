/* changes.h - releases from which NCCL does something otherwise: changes.def. `low >= NSC_CHANGE_X`: surely since then; `high < ...`: surely before. */
#ifndef NSC_CHANGES_H
#define NSC_CHANGES_H

enum nsc_change {
#define CHANGE(NAME, release, means, source) NSC_CHANGE_##NAME = release,
#include "changes.def"
#undef CHANGE
};

#endif
