/*
 * What all runtimes of a thread share: names, and the engine's own classes.
 *
 * The names of the language, of its classes and of the host are the same in every runtime. Here a thread has each of them
 * once: as an atom that is never freed while the thread has a runtime. What a runtime names beside them are atoms of its
 * own, with indexes from JS_ATOM_SHARED_END on.
 *
 * The engine sets its classes to the same in every runtime. A class of the host belongs to its runtime.
 *
 * Symbols are not shared, also those of the language: a symbol can be a key of a WeakMap, and then has a list of the maps
 * of its runtime.
 *
 * The reference counts are not atomic, so a runtime must stay on the thread that made it.
 */

/* Indexes below are those of the language's atoms and of shared names. */
#define JS_ATOM_SHARED_END 4096

/* The language's symbols: the last ones of its atoms. */
#define JS_ATOM_FIRST_SYMBOL JS_ATOM_Private_brand
#define JS_ATOM_SYMBOL_COUNT (JS_ATOM_END - JS_ATOM_FIRST_SYMBOL)

/* Longer names are not shared, in characters. */
#define JS_SHARED_NAME_MAX 128

#define JS_SHARED_HASH_SIZE 1024 /* power of two */

/* How many places of names are remembered; a power of two */
#define JS_NAME_PLACE_COUNT 4096

/* The table's own references to a name, far from 0 and from the largest count: over the life of a thread, references that runtimes
   leaked or returned twice add up. */
#define JS_SHARED_REF_COUNT (1 << 29)

#define JS_NAME_TABLE_HASH_SIZE 128 /* power of two */

/* The names of a table of properties. All of them are shared. */
typedef struct JSNameTable {
    struct JSNameTable *next;
    const JSCFunctionListEntry *tab;
    int len;
    uint16_t atoms[]; /* in the order of the table */
} JSNameTable;

typedef struct JSSharedAtoms {
    int runtime_count;
    uint32_t next; /* the index of the next name */
    const char *symbols; /* in js_atom_init */
    uint32_t hash[JS_SHARED_HASH_SIZE];
    JSAtomStruct *array[JS_ATOM_SHARED_END];
    uint16_t by_place[JS_NAME_PLACE_COUNT]; /* the indexes of names that were read at places with this hash */
    JSNameTable *tables[JS_NAME_TABLE_HASH_SIZE];
    JSClass classes[JS_CLASS_INIT_COUNT];
} JSSharedAtoms;

static _Thread_local JSSharedAtoms *js_thread_atoms;

static inline uint32_t hash_string8(const uint8_t *str, size_t len, uint32_t h);

/* Whether every runtime has this atom under this index */
static inline bool js_atom_is_predefined(JSAtom v)
{
    return (int32_t)v < JS_ATOM_END;
}

/* 'v' is the index of an atom, not a number */
static inline JSAtomStruct *js_get_atom(JSRuntime *rt, JSAtom v)
{
    if (v >= JS_ATOM_SHARED_END)
        return rt->atom_array[v - JS_ATOM_SHARED_END];
    if (v >= JS_ATOM_FIRST_SYMBOL && v < JS_ATOM_END)
        return rt->atom_symbols[v - JS_ATOM_FIRST_SYMBOL];
    return rt->shared_atoms->array[v];
}

static inline bool js_is_ascii(const char *str, size_t len)
{
    size_t i;

    for(i = 0; i < len; i++) {
        if ((uint8_t)str[i] >= 0x80)
            return false;
    }
    return true;
}

/* Whether an atom is this name, however wide its characters are stored. */
static inline bool js_atom_is_ascii_name(JSAtomStruct *p, const char *name, size_t len)
{
    size_t i;

    if (p->len != len)
        return false;
    if (!p->is_wide_char)
        return memcmp(str8(p), name, len) == 0;
    for(i = 0; i < len; i++) {
        if (str16(p)[i] != (uint8_t)name[i])
            return false;
    }
    return true;
}

/* 'id' is below rt->class_count */
static inline JSClass *js_class(JSRuntime *rt, JSClassID id)
{
    if (id < JS_CLASS_INIT_COUNT)
        return &rt->shared_atoms->classes[id];
    return &rt->class_array[id - JS_CLASS_INIT_COUNT];
}

/* The indexes of a runtime's atoms are smaller. */
static inline JSAtom js_atom_limit(JSRuntime *rt)
{
    return JS_ATOM_SHARED_END + rt->atom_size;
}

/* A new atom with room for its characters, in bytes. NULL if there is no memory. */
static JSAtomStruct *js_new_shared_atom(size_t size, int atom_type)
{
    JSMallocBlockHeader *block = js_def_calloc(NULL, 1, sizeof(*block) + sizeof(JSString) + size);
    JSAtomStruct *p;

    if (!block)
        return NULL;
    p = (JSAtomStruct *)block->user_data;
    JS_REF_COUNT(p) = JS_SHARED_REF_COUNT;
    p->kind = JS_STRING_KIND_NORMAL;
    p->atom_type = atom_type;
    return p;
}

/* Adds a name with a copy of its characters. Returns false if there is no memory. */
static bool js_share_name(JSSharedAtoms *shared, uint32_t i, const void *chars, uint32_t len, bool is_wide, uint32_t h)
{
    JSAtomStruct *p = js_new_shared_atom((len << is_wide) + 1 - is_wide, JS_ATOM_TYPE_STRING);
    uint32_t *first;

    if (!p)
        return false;
    p->len = len;
    p->is_wide_char = is_wide;
    p->hash = h;
    memcpy(str8(p), chars, len << is_wide); /* the end is 0 already */
    first = &shared->hash[h & (JS_SHARED_HASH_SIZE - 1)];
    p->hash_next = *first;
    *first = i;
    shared->array[i] = p;
    return true;
}

static void js_free_shared_atoms(JSSharedAtoms *shared)
{
    uint32_t i;

    for(i = 0; i < JS_ATOM_SHARED_END; i++) {
        if (shared->array[i])
            js_def_free(NULL, js_rc(shared->array[i]));
    }
    for(i = 0; i < JS_NAME_TABLE_HASH_SIZE; i++) {
        JSNameTable *table = shared->tables[i];
        while (table) {
            JSNameTable *next = table->next;
            js_def_free(NULL, table);
            table = next;
        }
    }
    js_def_free(NULL, shared);
}

/* Shares the names of the language. Returns false if there is no memory. */
static bool js_share_language(JSSharedAtoms *shared)
{
    const char *name = js_atom_init;
    uint32_t i;

    /* What JS_ATOM_NULL stands for, as the name of a file without debug information: an empty symbol. */
    shared->array[JS_ATOM_NULL] = js_new_shared_atom(1, JS_ATOM_TYPE_SYMBOL);
    if (!shared->array[JS_ATOM_NULL])
        return false;
    for(i = 1; i < JS_ATOM_FIRST_SYMBOL; i++) {
        size_t len = strlen(name);
        uint32_t h = hash_string8((const uint8_t *)name, len, JS_ATOM_TYPE_STRING) & JS_ATOM_HASH_MASK;
        if (!js_share_name(shared, i, name, len, false, h))
            return false;
        name += len + 1;
    }
    shared->symbols = name;
    shared->next = JS_ATOM_END;
    return true;
}

/* The names of this thread's runtimes, for one more runtime. NULL if there is no memory. */
static JSSharedAtoms *js_join_shared_atoms(void)
{
    JSSharedAtoms *shared = js_thread_atoms;

    if (!shared) {
        shared = js_def_calloc(NULL, 1, sizeof(*shared));
        if (!shared)
            return NULL;
        if (!js_share_language(shared)) {
            js_free_shared_atoms(shared);
            return NULL;
        }
        js_thread_atoms = shared;
    }
    shared->runtime_count++;
    return shared;
}

/* A runtime ends. The names go with the thread's last one. */
static void js_leave_shared_atoms(JSSharedAtoms *shared)
{
    if (shared && --shared->runtime_count == 0) {
        js_thread_atoms = NULL;
        js_free_shared_atoms(shared);
    }
}

/* The index of a shared name; JS_ATOM_NULL if it is not shared. */
static JSAtom js_find_shared_atom(JSSharedAtoms *shared, JSString *str, uint32_t h, int atom_type)
{
    uint32_t i = shared->hash[h & (JS_SHARED_HASH_SIZE - 1)];

    while (i != JS_ATOM_NULL) {
        JSAtomStruct *p = shared->array[i];
        if (p == str ||
            (p->hash == h &&
             p->atom_type == atom_type &&
             p->len == str->len &&
             js_string_memcmp(p, str, p->len) == 0))
            return i;
        i = p->hash_next;
    }
    return JS_ATOM_NULL;
}

/* The same for ASCII characters. */
static JSAtom js_find_shared_name(JSSharedAtoms *shared, const char *name, size_t len, uint32_t h)
{
    uint32_t i = shared->hash[h & (JS_SHARED_HASH_SIZE - 1)];

    while (i != JS_ATOM_NULL) {
        JSAtomStruct *p = shared->array[i];
        if (p->hash == h && js_atom_is_ascii_name(p, name, len))
            return i;
        i = p->hash_next;
    }
    return JS_ATOM_NULL;
}

/* The bytecode of a script is read once for each runtime, with the names at the same places. A name that was shared is found
   by its place then, without a hash of its characters. Places may come to hold other names, so the characters are
   compared. */
static inline uint16_t *js_name_place(JSSharedAtoms *shared, const void *place)
{
    return &shared->by_place[hash_uintptr((uintptr_t)place) >> (INTPTR_WIDTH - 12)];
}

/* The index of a shared name of one byte per character that was read at this place before. JS_ATOM_NULL: it must be
   looked up. So it is in a runtime with names of its own, which may have this one since before it was shared. */
static inline JSAtom js_find_name_by_place(JSRuntime *rt, const void *place, const char *name, size_t len)
{
    JSAtom i = *js_name_place(rt->shared_atoms, place);

    if (i == JS_ATOM_NULL || rt->has_own_names || !js_atom_is_ascii_name(rt->shared_atoms->array[i], name, len))
        return JS_ATOM_NULL;
    return i;
}

static inline void js_keep_name_place(JSRuntime *rt, const void *place, JSAtom atom)
{
    if (atom < JS_ATOM_SHARED_END && rt->shared_atoms->array[atom] && rt->shared_atoms->array[atom]->atom_type == JS_ATOM_TYPE_STRING)
        *js_name_place(rt->shared_atoms, place) = atom;
}

/* The atom of an ASCII name that belongs to a place */
static JSAtom js_new_atom_at(JSContext *ctx, const void *place, const char *name, size_t len)
{
    JSAtom atom = js_find_name_by_place(ctx->rt, place, name, len);

    if (atom == JS_ATOM_NULL) {
        atom = JS_NewAtomLen(ctx, name, len);
        js_keep_name_place(ctx->rt, place, atom);
    }
    return atom;
}

static inline JSNameTable **js_name_tables(JSSharedAtoms *shared, const JSCFunctionListEntry *tab)
{
    return &shared->tables[hash_uintptr((uintptr_t)tab) >> (INTPTR_WIDTH - 7)];
}

/* The names of a table that another runtime of the thread has read. NULL: they must be looked up. So it is in a runtime with
   names of its own, which may have one of these since before it was shared. */
static JSNameTable *js_find_name_table(JSRuntime *rt, const JSCFunctionListEntry *tab, int len)
{
    JSNameTable *table = *js_name_tables(rt->shared_atoms, tab);

    while (table && (table->tab != tab || table->len != len))
        table = table->next;
    return rt->has_own_names ? NULL : table;
}

/* Keeps the names of a table that is new to the thread, if all of them are shared. */
static void js_keep_name_table(JSRuntime *rt, const JSCFunctionListEntry *tab, int len, const JSAtom *atoms)
{
    JSNameTable **first = js_name_tables(rt->shared_atoms, tab);
    JSNameTable *table;
    int i;

    for(i = 0; i < len; i++) {
        if (atoms[i] >= JS_ATOM_SHARED_END)
            return;
    }
    table = js_def_malloc(NULL, sizeof(*table) + sizeof(table->atoms[0]) * len);
    if (!table)
        return;
    table->next = *first;
    table->tab = tab;
    table->len = len;
    for(i = 0; i < len; i++)
        table->atoms[i] = atoms[i];
    *first = table;
}

/* Shares a new name while there is room. JS_ATOM_NULL: the runtime must keep it. */
static JSAtom js_add_shared_atom(JSRuntime *rt, JSString *str, uint32_t h, int atom_type)
{
    JSSharedAtoms *shared = rt->shared_atoms;

    if (!rt->is_sharing_names ||
        atom_type != JS_ATOM_TYPE_STRING ||
        str->len > JS_SHARED_NAME_MAX ||
        shared->next == JS_ATOM_SHARED_END ||
        !js_share_name(shared, shared->next, str8(str), str->len, str->is_wide_char, h))
        return JS_ATOM_NULL;
    return shared->next++;
}

/* The runtime's own atoms of the language's symbols. Returns -1 if there is no memory. */
static int js_init_language_symbols(JSRuntime *rt)
{
    const char *name = rt->shared_atoms->symbols;
    uint32_t i;

    rt->atom_symbols = js_mallocz_rt(rt, sizeof(rt->atom_symbols[0]) * JS_ATOM_SYMBOL_COUNT);
    if (!rt->atom_symbols)
        return -1;
    for(i = JS_ATOM_FIRST_SYMBOL; i < JS_ATOM_END; i++) {
        size_t len = strlen(name);
        JSAtomStruct *p = js_alloc_string_rt(rt, len, 0);
        if (!p)
            return -1;
        memcpy(str8(p), name, len + 1);
        p->hash = i == JS_ATOM_Private_brand ? JS_ATOM_HASH_PRIVATE : JS_ATOM_HASH_SYMBOL;
        p->hash_next = i; /* the index, as in all symbols */
        p->atom_type = JS_ATOM_TYPE_SYMBOL;
        p->first_weak_ref = NULL;
        rt->atom_symbols[i - JS_ATOM_FIRST_SYMBOL] = p;
        name += len + 1;
    }
    return 0;
}

static void js_free_language_symbols(JSRuntime *rt)
{
    uint32_t i;

    if (!rt->atom_symbols)
        return;
    for(i = 0; i < JS_ATOM_SYMBOL_COUNT; i++) {
        JSAtomStruct *p = rt->atom_symbols[i];
        if (p) {
#ifdef ENABLE_DUMPS // JS_DUMP_LEAKS
            list_del(&p->link);
#endif
            js_free_rt(rt, p);
        }
    }
    js_free_rt(rt, rt->atom_symbols);
}

void JS_SetNameSharing(JSRuntime *rt, bool is_sharing)
{
    rt->is_sharing_names = is_sharing;
}
