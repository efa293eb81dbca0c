/** Requests to the API server through the dashboard's proxy; failures are a `Refused` with the server's Status. */
export interface StatusCause {
  readonly field?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly StatusCause[] };
}

export class Refused extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];

  constructor({ code = 0, reason = "", message = "", details }: Status) {
    super(message === "" ? reason : message);
    this.code = code;
    this.reason = reason;
    this.causes = details?.causes ?? [];
  }
}

export interface Ask {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly accept?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A path of the API server. */
export function ask<T>(path: string, options: Ask = {}): Promise<T> {
  return askDashboard(`proxy${path}`, options);
}

/** A path of the dashboard's own server, such as `why?…`. */
export async function askDashboard<T>(path: string, options: Ask = {}): Promise<T> {
  const { method = "GET", body, accept = "application/json", contentType = "application/json", signal } = options;
  const response = await fetch(path, {
    method,
    headers: { accept, ...(body !== undefined && { "content-type": contentType }) },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  const text = await response.text();
  if (!response.ok) throw refusedBy(response.status, text);
  return JSON.parse(text) as T;
}

export function refusedBy(code: number, text: string): Refused {
  try {
    const status = JSON.parse(text) as Status;
    return new Refused({ ...status, code });
  } catch {
    return new Refused({ code, message: text.trim() === "" ? `The server returned ${code}.` : text.trim() });
  }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
