/** `url`, `isURL` and the parts of a URL. */

import { nominal, walk } from "../../functions/call-costs.ts";
import { costs, range, scaleRange } from "../../functions/cost.ts";
import { fn, global, type Library, member } from "../../functions/function.ts";
import { HashMap } from "../../values/hash-map.ts";
import { bool, list, map, opaque, string } from "../../values/type.ts";
import { ArrayList, CelError, Opaque, type Outcome } from "../../values/value.ts";
import { hostname, isUri, parseUri, port, queryOf, type Url, UrlError } from "./go-url.ts";

export const urlType = opaque("kubernetes.URL");

export class UrlValue extends Opaque {
  override readonly type = urlType;
  readonly url: Url;

  constructor(url: Url) {
    super();
    this.url = url;
  }

  override equals(other: Opaque): boolean {
    return other instanceof UrlValue && other.url.text === this.url.text;
  }
}

export const urls: Library = {
  name: "kubernetes.urls",
  types: [
    {
      type: urlType,
      // By the size of the right operand only: the estimate must equal that of Kubernetes.
      equality: (_, right) => scaleRange(range(1, right.computedSize?.max ?? 1), costs.stringTraversal),
    },
  ],
  functions: [
    fn("url", global("string_to_url", [string], urlType, toUrl, walk({ size: (text) => text }))),
    fn("isURL", global("is_url_string", [string], bool, isUri)),
    fn(
      "getScheme",
      member("url_get_scheme", [urlType], string, ({ url }: UrlValue) => url.scheme, nominal),
    ),
    fn(
      "getHost",
      member("url_get_host", [urlType], string, ({ url }: UrlValue) => url.host, nominal),
    ),
    fn(
      "getHostname",
      member("url_get_hostname", [urlType], string, ({ url }: UrlValue) => hostname(url), nominal),
    ),
    fn(
      "getPort",
      member("url_get_port", [urlType], string, ({ url }: UrlValue) => port(url), nominal),
    ),
    fn(
      "getEscapedPath",
      member("url_get_escaped_path", [urlType], string, ({ url }: UrlValue) => url.escapedPath, nominal),
    ),
    fn("getQuery", member("url_get_query", [urlType], map(string, list(string)), query, nominal)),
  ],
};

function toUrl(text: string): Outcome {
  try {
    return new UrlValue(parseUri(text));
  } catch (error) {
    if (error instanceof UrlError)
      return new CelError(`URL parse error during conversion from string: ${error.message}`);
    throw error;
  }
}

function query({ url }: UrlValue): Outcome {
  return HashMap.of([...queryOf(url)].map(([key, values]) => [key, new ArrayList(values)]));
}
