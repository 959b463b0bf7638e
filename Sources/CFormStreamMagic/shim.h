// libmagic. Only FormStreamMediaTypes/Internals/Magic.swift uses it.
#ifndef FORMSTREAM_CMAGIC_H
#define FORMSTREAM_CMAGIC_H

#include <magic.h>

#endif
