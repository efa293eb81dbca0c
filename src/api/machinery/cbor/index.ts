export { decodeCbor, decodeCborSequence } from "./decode.ts";
export { CborWriter, encodeCbor, encodeCborItem } from "./encode.ts";
export { CborError, isSelfDescribed, MAJOR } from "./item.ts";
export { unknownFieldIndex } from "./unknown-field.ts";
