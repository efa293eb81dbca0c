export { Http2Connection, type Http2ConnectionOptions } from "./connection.ts";
export { OutputBuffers } from "./output-buffers.ts";
export type { AnswerFields, Http2Stream } from "./stream.ts";
