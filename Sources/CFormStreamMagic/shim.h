// libmagic. MediaTypes uses it in one file.
#ifndef FORMSTREAM_CMAGIC_H
#define FORMSTREAM_CMAGIC_H

#include <magic.h>

#endif
