import type { Endpoint, Snippet } from "../../contract/service.ts";

export const webSocketPath = "/ws/echo";

/** Commands and lines to copy for the address where the service listens. */
export function httpSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "http://127.0.0.1:8080";
  return [
    { label: "curl", language: "shell", text: `curl -i ${url}/api/data` },
    {
      label: "curl, POST JSON",
      language: "shell",
      text: `curl -i ${url}/api/echo -H 'Content-Type: application/json' -d '{"hello":"world"}'`,
    },
    { label: "curl, server-sent events", language: "shell", text: `curl -N '${url}/api/stream?count=0'` },
    { label: "websocat", language: "shell", text: `websocat ${url.replace(/^http/, "ws")}${webSocketPath}` },
    {
      label: "JavaScript",
      language: "javascript",
      text: `const response = await fetch("${url}/api/echo", {\n  method: "POST",\n  headers: { "Content-Type": "application/json" },\n  body: JSON.stringify({ hello: "world" }),\n});\nconsole.log(response.status, await response.json());`,
    },
    {
      label: "JavaScript, server-sent events",
      language: "javascript",
      text: `const events = new EventSource("${url}/api/stream?count=0");\nevents.addEventListener("ping", ({ data, lastEventId }) => console.log(lastEventId, data));`,
    },
    {
      label: "JavaScript, WebSocket",
      language: "javascript",
      text: `const socket = new WebSocket("${url.replace(/^http/, "ws")}${webSocketPath}");\nsocket.onopen = () => socket.send("hello");\nsocket.onmessage = ({ data }) => console.log(data);`,
    },
    {
      label: "Python",
      language: "python",
      text: `import requests\n\nresponse = requests.post("${url}/api/echo", json={"hello": "world"})\nprint(response.status_code, response.json())`,
    },
  ];
}
