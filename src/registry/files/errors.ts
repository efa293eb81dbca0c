/** Errors as the OCI distribution specification writes them. */

export type ErrorCode =
  | "BLOB_UNKNOWN"
  | "BLOB_UPLOAD_INVALID"
  | "BLOB_UPLOAD_UNKNOWN"
  | "DENIED"
  | "DIGEST_INVALID"
  | "MANIFEST_BLOB_UNKNOWN"
  | "MANIFEST_INVALID"
  | "MANIFEST_UNKNOWN"
  | "NAME_INVALID"
  | "NAME_UNKNOWN"
  | "SIZE_INVALID"
  | "TOOMANYREQUESTS"
  | "UNKNOWN"
  | "UNSUPPORTED";

export class RegistryError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: object | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    detail?: object,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.headers = headers;
  }

  get body(): object {
    const { code, message, detail } = this;
    return { errors: [{ code, message, ...(detail !== undefined && { detail }) }] };
  }
}
