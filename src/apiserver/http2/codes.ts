/** The numbers of HTTP/2 (RFC 9113). */

export const FRAME_HEAD = 9;
/** The longest payload unless SETTINGS_MAX_FRAME_SIZE allows more. */
export const MIN_MAX_FRAME = 16_384;
export const MAX_MAX_FRAME = 2 ** 24 - 1;
export const INITIAL_WINDOW = 65_535;
export const MAX_WINDOW = 2 ** 31 - 1;
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const CODE = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** A connection error (RFC 9113, 5.4.1): ends the connection. */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function broken(message: string): ConnectionError {
  return new ConnectionError(CODE.protocolError, message);
}

export function wrongSize(frame: string): ConnectionError {
  return new ConnectionError(CODE.frameSizeError, `${frame} has a wrong size`);
}

export function tooMuch(message: string): ConnectionError {
  return new ConnectionError(CODE.enhanceYourCalm, message);
}
