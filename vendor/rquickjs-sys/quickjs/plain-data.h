/*
 * Plain data, read without running any code: texts, and what objects and arrays hold that have no behaviour of their own.
 *
 * A value that is not plain may still have a JSON text: JSON.stringify knows.
 */

/* Objects of the script inherit from it, so JSON.stringify would ask it. */
static inline bool js_has_to_json(JSObject *prototype)
{
    return find_own_property1(prototype, JS_ATOM_toJSON) != NULL;
}

bool JS_GetPlainText(JSValueConst val, JSPlainText *text)
{
    JSString *p;

    if (JS_VALUE_GET_TAG(val) != JS_TAG_STRING)
        return false;
    p = JS_VALUE_GET_STRING(val);
    text->chars = strv(p);
    text->len = p->len;
    text->is_wide = p->is_wide_char;
    return true;
}

JSPlainKind JS_GetPlainKind(JSContext *ctx, JSValueConst val, uint32_t *count)
{
    JSObject *p, *of_objects, *of_arrays;

    if (JS_VALUE_GET_TAG(val) != JS_TAG_OBJECT)
        return JS_PLAIN_NONE;
    p = JS_VALUE_GET_OBJ(val);
    of_objects = JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT]);
    if (js_has_to_json(of_objects))
        return JS_PLAIN_NONE;
    if (p->class_id == JS_CLASS_OBJECT && !p->is_exotic && p->shape->proto == of_objects) {
        *count = p->shape->prop_count;
        return JS_PLAIN_OBJECT;
    }
    of_arrays = JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_ARRAY]);
    /* The only property of an array as it is made is its length, the first one. */
    if (p->class_id == JS_CLASS_ARRAY && p->fast_array && p->shape->proto == of_arrays && p->shape->prop_count == 1 &&
        JS_VALUE_GET_TAG(p->prop[0].u.value) == JS_TAG_INT &&
        JS_VALUE_GET_INT(p->prop[0].u.value) == p->u.array.count &&
        of_arrays->shape->proto == of_objects && !js_has_to_json(of_arrays)) {
        *count = p->u.array.count;
        return JS_PLAIN_ARRAY;
    }
    return JS_PLAIN_NONE;
}

int JS_GetPlainProperty(JSContext *ctx, JSValueConst obj, uint32_t i, JSPlainText *key, JSValue *val)
{
    JSObject *p = JS_VALUE_GET_OBJ(obj);
    JSShapeProperty *prs = &get_shape_prop(p->shape)[i];
    JSAtomStruct *name;

    if (prs->atom == JS_ATOM_NULL || !(prs->flags & JS_PROP_ENUMERABLE))
        return 0;
    if (__JS_AtomIsTaggedInt(prs->atom) || prs->atom == JS_ATOM_toJSON || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
        return -1;
    name = js_get_atom(ctx->rt, prs->atom);
    if (name->atom_type != JS_ATOM_TYPE_STRING)
        return 0;
    key->chars = strv(name);
    key->len = name->len;
    key->is_wide = name->is_wide_char;
    *val = p->prop[i].u.value;
    return 1;
}

JSValue JS_GetPlainItem(JSValueConst array, uint32_t i)
{
    return JS_VALUE_GET_OBJ(array)->u.array.u.values[i];
}
