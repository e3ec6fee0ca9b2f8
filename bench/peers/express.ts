/** Two routes on Express as it comes, or with ETags off. `node express.ts PORT [no-etag]` */
import express from "express";
import { bodyLimit, echoBody, port, statusBody } from "./equal-answers.ts";

const app = express();
if (process.argv[3] === "no-etag") app.set("etag", false);
app.use(express.json({ limit: bodyLimit }));
app.get("/", (_request, response) => void response.json(statusBody));
app.post("/api/echo", (request, response) => void response.json(echoBody(request.body)));
app.listen(port, "127.0.0.1");
