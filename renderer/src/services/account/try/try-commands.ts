import { inBash, isLongArgument, printed, shellQuoted } from "../../../ui/copy/shells.ts";
import { sentTarget } from "../../try/try-request.ts";
import { type TryDraft, takesBody } from "./try-draft.ts";

export const languages = ["curl", "javascript", "python"] as const;
export type Language = (typeof languages)[number];
export const languageTitles: Readonly<Record<Language, string>> = { curl: inBash("curl"), javascript: "JavaScript", python: "Python" };

interface Commands {
  readonly origin: string;
  readonly draft: TryDraft;
  readonly password: string;
  /** Code of the second factor; empty if the user has none. */
  readonly code: string;
}

const writers: Readonly<Record<Language, (commands: Commands) => string>> = { curl: asCurl, javascript: asJavaScript, python: asPython };

/** The same as a program: login, the second factor if a code is given, then the call. */
export const tryCommands = (language: Language, commands: Commands): string => writers[language](commands);

const literal = (value: string) => JSON.stringify(value);
const targetOf = ({ target }: TryDraft) => sentTarget(target);
const bodyOf = ({ method, body }: TryDraft) => (takesBody(method) ? body : "");
const mfaBody = (code: string) => JSON.stringify({ method: "google_authenticator", payload: { code } });

function asCurl({ origin, draft, password, code }: Commands): string {
  const body = bodyOf(draft);
  const json = "-H 'Content-Type: application/json'";
  const method = draft.method === (body === "" ? "GET" : "POST") ? "" : ` -X ${draft.method}`;
  const isPiped = isLongArgument(body);
  const curl = `${isPiped ? `${printed(body)} | ` : ""}curl${method}`;
  const sent = body === "" ? "" : ` \\\n  ${json} \\\n  ${isPiped ? "--data-binary @-" : `--data-raw ${shellQuoted(body)}`}`;
  const url = shellQuoted(origin + targetOf(draft));
  if (draft.scheme === "basic") return `${curl} -u ${shellQuoted(`${draft.username}:${password}`)} ${url}${sent}`;
  const token = String.raw`sed 's/.*"token":"\([^"]*\)".*/\1/'`;
  const login = `curl -s ${origin}/login \\\n  --data-urlencode ${shellQuoted(`username=${draft.username}`)} \\\n  --data-urlencode ${shellQuoted(`password=${password}`)}`;
  const lines = [`token=$(${login} |\n  ${token})`];
  if (code !== "") {
    lines.push(
      `token=$(curl -s ${origin}/mfa/verify \\\n  -H "Authorization: Bearer $token" ${json} \\\n  --data-raw ${shellQuoted(mfaBody(code))} |\n  ${token})`,
    );
  }
  lines.push(`${curl} ${url} \\\n  -H "Authorization: Bearer $token"${sent}`);
  return lines.join("\n");
}

function asJavaScript({ origin, draft, password, code }: Commands): string {
  const body = bodyOf(draft);
  const basic = draft.scheme === "basic";
  const lines: string[] = [];
  if (!basic) {
    lines.push(
      `const login = await fetch(${literal(`${origin}/login`)}, {`,
      '  method: "POST",',
      `  body: new URLSearchParams({ username: ${literal(draft.username)}, password: ${literal(password)} }),`,
      "});",
    );
    if (code === "") lines.push("const { token } = await login.json();");
    else {
      lines.push(
        "const { mfa } = await login.json();",
        `const verified = await fetch(${literal(`${origin}/mfa/verify`)}, {`,
        '  method: "POST",',
        '  headers: { Authorization: "Bearer " + mfa.token, "Content-Type": "application/json" },',
        `  body: ${literal(mfaBody(code))},`,
        "});",
        "const { token } = await verified.json();",
      );
    }
  }
  // btoa takes Latin-1 only; the service reads UTF-8.
  const authorization = basic
    ? `"Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(${literal(`${draft.username}:${password}`)})))`
    : '"Bearer " + token';
  lines.push(
    `const response = await fetch(${literal(origin + targetOf(draft))}, {`,
    ...(draft.method === "GET" ? [] : [`  method: ${literal(draft.method)},`]),
    `  headers: { Authorization: ${authorization}${body === "" ? "" : ', "Content-Type": "application/json"'} },`,
    ...(body === "" ? [] : [`  body: ${literal(body)},`]),
    "});",
    "console.log(response.status, await response.text());",
  );
  return lines.join("\n");
}

function asPython({ origin, draft, password, code }: Commands): string {
  const body = bodyOf(draft);
  const basic = draft.scheme === "basic";
  const lines = ["import requests", ""];
  if (!basic) {
    lines.push(
      "login = requests.post(",
      `    ${literal(`${origin}/login`)},`,
      `    data={"username": ${literal(draft.username)}, "password": ${literal(password)}},`,
      ").json()",
    );
    if (code === "") lines.push('token = login["token"]');
    else {
      lines.push(
        "verified = requests.post(",
        `    ${literal(`${origin}/mfa/verify`)},`,
        '    headers={"Authorization": "Bearer " + login["mfa"]["token"]},',
        `    json={"method": "google_authenticator", "payload": {"code": ${literal(code)}}},`,
        ").json()",
        'token = verified["token"]',
      );
    }
  }
  const headers = [
    ...(basic ? [] : ['"Authorization": "Bearer " + token']),
    ...(body === "" ? [] : ['"Content-Type": "application/json"']),
  ];
  lines.push(
    "response = requests.request(",
    `    ${literal(draft.method)},`,
    `    ${literal(origin + targetOf(draft))},`,
    ...(basic ? [`    auth=(${literal(draft.username)}, ${literal(password)}),`] : []),
    ...(headers.length > 0 ? [`    headers={${headers.join(", ")}},`] : []),
    ...(body === "" ? [] : [`    data=${literal(body)}.encode(),`]),
    ")",
    "print(response.status_code, response.text)",
  );
  return lines.join("\n");
}
