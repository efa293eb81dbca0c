import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { HtmlLinks } from "./html-links.ts";
import { proxiedAnswer, rewriteLink } from "./proxied-answer.ts";

const prefix = "/api/v1/namespaces/ns/pods/http:p:80/proxy";
const path = { prefix, hosts: ["10.0.0.1:80", "kubernetes.default"] };

describe("a link of a proxied page", () => {
  it.each([
    { url: "/a", want: `${prefix}/a` },
    { url: "/a/", want: `${prefix}/a/` },
    { url: "/a/../b?c=/d#e", want: `${prefix}/b?c=/d#e` },
    { url: "a/b", want: "a/b" },
    { url: "", want: "" },
    { url: "?q", want: "?q" },
    { url: "#top", want: "#top" },
    { url: "mailto:me@example.com", want: "mailto:me@example.com" },
    { url: "http://10.0.0.1:80/a?b", want: `${prefix}/a?b` },
    { url: "//kubernetes.default/a", want: `${prefix}/a` },
    { url: "https://example.com/a", want: "https://example.com/a" },
    { url: `${prefix}/a`, want: `${prefix}/a` },
  ])("$url", ({ url, want }) => expect(rewriteLink(url, path)).toBe(want));
});

describe("an HTML page", () => {
  it.each([
    { name: "link", page: '<a href="/a">x</a>', want: '<a href="P/a">x</a>' },
    { name: "bare and single quotes", page: "<IMG SRC=/a ALT='b'/>", want: '<img src="P/a" alt="b"/>' },
    { name: "no value", page: "<input disabled src = /a >", want: '<input disabled="" src="P/a">' },
    { name: "several", page: '<video poster="/p" src="/s">', want: '<video poster="P/p" src="P/s">' },
    { name: "no link", page: '<p title="/a">/a <3</p>', want: '<p title="/a">/a <3</p>' },
    {
      name: "entities",
      page: '<a href="/a?b&amp;c&nbsp;&#x26;" t="&quot;\'">',
      want: '<a href="P/a?b&amp;c&nbsp;&amp;" t="&#34;&#39;">',
    },
    {
      name: "scripts, comments and declarations",
      page: '<!doctype html><!-- <a href="/a"> --><script src="/s">"<a href=\\"/a\\">"</script></A ><?x <b>',
      want: '<!doctype html><!-- <a href="/a"> --><script src="P/s">"<a href=\\"/a\\">"</script></A ><?x <b>',
    },
    { name: "a tag without an end", page: 'x<b><a href="/a', want: "x<b>" },
    { name: "bytes that are no ASCII", page: '<a href="/\xe4">\xe4</a>', want: '<a href="P/\xe4">\xe4</a>' },
    { name: "a quote without an end", page: 'x<a href="/a>b</a>', want: "x" },
    { name: "the shortest comment, and one without an end", page: "<!--><b><!--x--", want: "<!--><b><!--x--" },
    { name: "a bracket at the end", page: "<", want: "<" },
    {
      name: "text that looks like its end",
      page: '<title></titles></title ><p><plaintext><a href="/a">',
      want: '<title></titles></title ><p><plaintext><a href="/a">',
    },
  ])("$name", ({ page, want }) => {
    expect(rewritten([page])).toBe(want);
    for (let cut = 0; cut <= page.length; cut++) expect(rewritten([page.slice(0, cut), page.slice(cut)])).toBe(want);
    expect(rewritten([...page])).toBe(want);
  });

  it("passes as it arrives", () => {
    const links = new HtmlLinks((url) => `P${url}`);
    const pieces = ["<p>one", " two <a", ' href="/a', '">x', "<script>1 <", " 2</scr", "ipt>"];
    const want = ["<p>one", " two ", "", '<a href="P/a">x', "<script>", "1 ", "< 2</script>"];
    expect(pieces.map((piece) => links.push(piece))).toEqual(want);
  });

  function rewritten(pieces: readonly string[]): string {
    const links = new HtmlLinks((url) => (url.startsWith("/") ? `P${url}` : url));
    return pieces.map((piece) => links.push(piece)).join("") + links.end();
  }
});

describe("the answer of a proxy", () => {
  const html = { "content-type": "text/html" };
  const page = Buffer.from('<a href="/a">x</a>');
  const want = `<a href="${prefix}/a">x</a>`;
  const same = (bytes: Buffer) => bytes;

  it.each([
    { coding: "", pack: same, unpack: same, want },
    { coding: "gzip", pack: gzipSync, unpack: gunzipSync, want },
    { coding: "deflate", pack: deflateRawSync, unpack: inflateRawSync, want },
    { coding: "br", pack: same, unpack: same, want: page.toString() },
  ])("with the coding '$coding'", async ({ coding, pack, unpack, want }) => {
    const headers = coding === "" ? html : { ...html, "content-encoding": coding };
    const { body } = proxiedAnswer({ status: 200, headers, body: Readable.from([pack(page)]) }, path);
    expect(unpack(await buffer(body)).toString()).toBe(want);
  });

  it("passes a page that does not end", async () => {
    const body = new Readable({ read: () => {} });
    body.push('<a href="/a">x</a><a');
    const answer = proxiedAnswer({ status: 200, headers: html, body }, path);
    const chunks: AsyncIterator<Buffer> = answer.body[Symbol.asyncIterator]();
    expect((await chunks.next()).value.toString()).toBe(want);
    await chunks.return?.();
    await vi.waitFor(() => expect(body.destroyed).toBe(true));
  });

  it.each([
    { name: "nothing", sent: "", want: "" },
    { name: "a coding that is none", sent: "<a>", want: undefined },
  ])("with the coding gzip and $name", async ({ sent, want }) => {
    const headers = { ...html, "content-encoding": "gzip" };
    const body = Readable.from(sent === "" ? [] : [Buffer.from(sent)]);
    const read = buffer(proxiedAnswer({ status: 200, headers, body }, path).body);
    if (want === undefined) await expect(read).rejects.toThrow("incorrect header check");
    else expect((await read).toString()).toBe(want);
  });

  it("leads redirects through the proxy, and grants nothing to other origins", () => {
    const headers = { location: "/a", "access-control-allow-origin": "*", "x-own": "1" };
    const answer = proxiedAnswer({ status: 302, headers, body: Readable.from([]) }, path);
    expect(answer.headers).toEqual({ location: `${prefix}/a`, "x-own": "1" });
  });
});
