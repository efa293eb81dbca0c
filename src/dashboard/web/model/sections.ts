/** The parts of any object below its metadata, in the order in which people ask for them. */
export interface Section {
  /** Such as `spec`, `status` or `data`. */
  readonly title: string;
  readonly value: unknown;
}

const FIRST = ["status", "spec", "data"];
/** Shown by the page itself. */
const NOT_SECTIONS = new Set(["apiVersion", "kind", "metadata"]);

/** 1. The values of a Secret are never among them. */
export function sectionsOf(object: object, isSecret: boolean): Section[] {
  const found = Object.entries(object)
    .filter(([title, value]) => !NOT_SECTIONS.has(title) && !isEmpty(value))
    .map(([title, value]) => ({ title, value: isSecret && isMap(value) ? withSizes(value) : value }));
  const place = ({ title }: Section) => (FIRST.includes(title) ? FIRST.indexOf(title) : FIRST.length);
  return found.sort((a, b) => place(a) - place(b));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
}

/** As in `kubectl describe secret`. */
function withSizes(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, `${sizeOf(String(value))} bytes`]));
}

function sizeOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
