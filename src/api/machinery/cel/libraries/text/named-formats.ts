/**
 * The named string formats of Kubernetes. Each check returns the faults; an empty list means that the string is valid.
 */
import {
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkPrefix,
  checkQualifiedName,
  type NameCheck,
} from "../../../names/names.ts";
import { parseTime, TimeError } from "../../../scalars/time.ts";
import { uriFault } from "../network/go-url.ts";

export interface NamedFormat {
  readonly name: string;
  readonly check: NameCheck;
  /** The length of an equivalent pattern: the cost of a check depends on it. */
  readonly patternSize: number;
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const timeOfDay = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;
const timeOfDaySize = timeOfDay.source.length;

export const namedFormats: ReadonlyMap<string, NamedFormat> = new Map(
  Object.entries({
    dns1123Label: { name: "DNS1123Label", check: checkDns1123Label, patternSize: 30 },
    dns1123Subdomain: { name: "DNS1123Subdomain", check: checkDns1123Subdomain, patternSize: 60 },
    dns1035Label: { name: "DNS1035Label", check: checkDns1035Label, patternSize: 30 },
    qualifiedName: { name: "QualifiedName", check: checkQualifiedName, patternSize: 60 },
    dns1123LabelPrefix: { name: "DNS1123LabelPrefix", check: checkPrefix(checkDns1123Label), patternSize: 30 },
    dns1123SubdomainPrefix: {
      name: "DNS1123SubdomainPrefix",
      check: checkPrefix(checkDns1123Subdomain),
      patternSize: 60,
    },
    dns1035LabelPrefix: { name: "DNS1035LabelPrefix", check: checkPrefix(checkDns1035Label), patternSize: 30 },
    labelValue: { name: "LabelValue", check: checkLabelValue, patternSize: 40 },
    uri: { name: "URI", check: checkUri, patternSize: 1103 },
    uuid: {
      name: "uuid",
      check: passing((text) => uuid.test(text), "does not match the UUID format"),
      patternSize: uuid.source.length + "(?i)".length,
    },
    byte: { name: "byte", check: passing(isBase64, "invalid base64"), patternSize: 84 },
    date: { name: "date", check: passing(isDate, "invalid date"), patternSize: timeOfDaySize },
    datetime: { name: "datetime", check: passing(isDateTime, "invalid datetime"), patternSize: timeOfDaySize },
  }),
);

function passing(test: (text: string) => boolean, why: string): NameCheck {
  return (text) => (test(text) ? [] : [why]);
}

function checkUri(text: string): readonly string[] {
  const fault = uriFault(text);
  return fault === undefined ? [] : [fault];
}

function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  try {
    parseTime(`${text}T00:00:00Z`);
    return true;
  } catch (error) {
    if (error instanceof TimeError) return false;
    throw error;
  }
}

/** What follows a second `t` is ignored. */
function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  const [, hour = "", minute = "", second = ""] = timeOfDay.exec(time ?? "") ?? [];
  return isDate(date) && second !== "" && hour <= "23" && minute <= "59" && second <= "59";
}
