export { HeaderDecoder } from "./decoder.ts";
export { HeaderEncoder } from "./encoder.ts";
export { HpackError } from "./error.ts";
