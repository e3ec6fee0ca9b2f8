import type { Endpoint, Snippet } from "../../contract/service.ts";
import { sampleUser } from "./store/sample-data.ts";

/** Commands and lines to copy for the address where the service listens. */
export function accountSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "http://127.0.0.1:8081";
  const { email, password } = sampleUser;
  return [
    { label: "curl, log in", language: "shell", text: `curl -i ${url}/login -d username=${email} -d password=${password}` },
    { label: "curl, details with Basic", language: "shell", text: `curl -u ${email}:${password} ${url}/details` },
    {
      label: "curl, details with a token",
      language: "shell",
      text: `token=$(curl -s ${url}/login -d username=${email} -d password=${password} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')\ncurl -H "Authorization: Bearer $token" ${url}/details`,
    },
    {
      label: "curl, add a TXT record",
      language: "shell",
      text: `curl -u ${email}:${password} ${url}/service/292/dns/1178/records -H 'Content-Type: application/json' -d '{"name":"_acme-challenge","type":"TXT","content":"hello","ttl":60}'`,
    },
    {
      label: "JavaScript",
      language: "javascript",
      text: `const login = await fetch("${url}/login", {\n  method: "POST",\n  body: new URLSearchParams({ username: "${email}", password: "${password}" }),\n});\nconst { token } = await login.json();\nconst details = await fetch("${url}/details", { headers: { Authorization: \`Bearer \${token}\` } });\nconsole.log(await details.json());`,
    },
    {
      label: "Python",
      language: "python",
      text: `import requests\n\nlogin = requests.post("${url}/login", data={"username": "${email}", "password": "${password}"})\ntoken = login.json()["token"]\nprint(requests.get("${url}/details", headers={"Authorization": "Bearer " + token}).json())`,
    },
  ];
}
