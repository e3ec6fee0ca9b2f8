import type { Endpoint, Snippet } from "../../contract/service.ts";
import { exampleEvent } from "../../contract/services/example-event.ts";

/** Commands and lines to copy for the address where the service listens. */
export function eventsSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "http://127.0.0.1:8082";
  const base = url.replace(/\/events$/, "");
  const json = JSON.stringify(exampleEvent);
  return [
    {
      label: "curl, POST an event",
      language: "shell",
      text: `curl -i ${base}/events -H 'Content-Type: application/json' -H 'X-Plugin-Version: 0.5.0' -d '${json}'`,
    },
    { label: "curl, newest events", language: "shell", text: `curl '${base}/events?limit=10&outcome=accepted'` },
    { label: "curl, statistics", language: "shell", text: `curl ${base}/stats` },
    {
      label: "JavaScript, all events by cursor",
      language: "javascript",
      text: `let after = "";\nfor (;;) {\n  const response = await fetch(\`${base}/events?limit=1000\${after}\`);\n  const { data } = await response.json();\n  if (data.length === 0) break;\n  for (const event of data) console.log(event.id, event.outcome);\n  after = \`&after=\${data.at(-1).id}\`;\n}`,
    },
    {
      label: "Python",
      language: "python",
      text: `import json, urllib.request\n\nwith urllib.request.urlopen("${base}/stats") as answer:\n    print(json.load(answer))`,
    },
  ];
}
