/** A field block cannot be decoded: the connection ends with COMPRESSION_ERROR. */
export class HpackError extends Error {
  override readonly name = "HpackError";
}
