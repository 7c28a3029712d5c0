/* version.c - which library runs, and on what. */
#include "ncclscope.h"

#include "read/pattern.h"
#include "read/source.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zlib.h>

const char *ncclscope_version(void)
{
    return NSC_VERSION;
}

const char *ncclscope_version_details(char *out, size_t size)
{
    char engine[160];
    nsc_pattern_engine(engine, sizeof engine);
    const char *archives = nsc_packed_version();
    snprintf(out, size, "ncclscope %s, PCRE2 %s, SQLite %s, zlib %s, jansson %s%s%s", NSC_VERSION, engine,
             sqlite3_libversion(), zlibVersion(), jansson_version_str(), archives ? ", libarchive " : "",
             archives ? archives : "");
    return out;
}
