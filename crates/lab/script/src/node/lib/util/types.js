// `util/types`: what kind of object a value is.

const tag = (value) => Object.prototype.toString.call(value).slice(8, -1);
const isObject = (value) => value !== null && typeof value === "object";
const is = (kind) => (value) => isObject(value) && value instanceof kind;
const typed = Object.getPrototypeOf(Uint8Array);
const kindOfFunction = (value) => (typeof value === "function" ? tag(value) : "");

module.exports = {
  isAnyArrayBuffer: (value) => isObject(value) && (value instanceof ArrayBuffer || tag(value) === "SharedArrayBuffer"),
  isArgumentsObject: (value) => isObject(value) && tag(value) === "Arguments",
  isArrayBuffer: is(ArrayBuffer),
  isArrayBufferView: (value) => ArrayBuffer.isView(value),
  isAsyncFunction: (value) => ["AsyncFunction", "AsyncGeneratorFunction"].includes(kindOfFunction(value)),
  isBigInt64Array: is(BigInt64Array),
  isBigUint64Array: is(BigUint64Array),
  isBooleanObject: is(Boolean),
  isBoxedPrimitive: (value) => isObject(value) && [Number, String, Boolean, Symbol, BigInt].some((kind) => value instanceof kind),
  isDataView: is(DataView),
  isDate: is(Date),
  isFloat32Array: is(Float32Array),
  isFloat64Array: is(Float64Array),
  isGeneratorFunction: (value) => kindOfFunction(value).endsWith("GeneratorFunction"),
  isGeneratorObject: (value) => isObject(value) && tag(value).endsWith("Generator"),
  isInt8Array: is(Int8Array),
  isInt16Array: is(Int16Array),
  isInt32Array: is(Int32Array),
  isMap: is(Map),
  isMapIterator: (value) => isObject(value) && tag(value) === "Map Iterator",
  isModuleNamespaceObject: (value) => isObject(value) && tag(value) === "Module",
  isNativeError: is(Error),
  isNumberObject: is(Number),
  isPromise: is(Promise),
  isRegExp: is(RegExp),
  isSet: is(Set),
  isSetIterator: (value) => isObject(value) && tag(value) === "Set Iterator",
  isSharedArrayBuffer: (value) => isObject(value) && tag(value) === "SharedArrayBuffer",
  isStringObject: is(String),
  isSymbolObject: is(Symbol),
  isTypedArray: is(typed),
  isUint8Array: is(Uint8Array),
  isUint8ClampedArray: is(Uint8ClampedArray),
  isUint16Array: is(Uint16Array),
  isUint32Array: is(Uint32Array),
  isWeakMap: is(WeakMap),
  isWeakSet: is(WeakSet),
};
