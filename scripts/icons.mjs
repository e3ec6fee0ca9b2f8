// Draws every icon file of resources/ from its SVG sources. Run by hand after a change of the drawing; the outputs are committed.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";
import { encodeIcns } from "./icns.mjs";
import { encodeIco } from "./ico.mjs";

const resources = path.resolve(import.meta.dirname, "../resources");
const read = (name) => readFile(path.join(resources, name), "utf8");

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const page = await browser.newPage();

/** @returns {Promise<{ size: number, png: Buffer, rgba: Buffer }>} */
async function draw(svg, size, viewBox) {
  const source = svg.replace(/viewBox="[^"]*"/, `viewBox="${viewBox}" width="${size}" height="${size}"`);
  const { png, rgba } = await page.evaluate(
    async ([markup, side]) => {
      const image = new Image();
      image.src = URL.createObjectURL(new Blob([markup], { type: "image/svg+xml" }));
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0, side, side);
      const { data } = context.getImageData(0, 0, side, side);
      return { png: canvas.toDataURL("image/png").split(",")[1], rgba: new Uint8Array(data.buffer).toBase64() };
    },
    [source, size],
  );
  return { size, png: Buffer.from(png, "base64"), rgba: Buffer.from(rgba, "base64") };
}

const icon = await read("icon.svg");
const tile = "0 0 1024 1024";
// Apple's grid leaves a margin: the tile's 960 become 824 of 1024.
const appleTile = "-84.5 -84.5 1193 1193";
const square = "-1 -3 22 22";

await mkdir(path.join(resources, "icons"), { recursive: true });
await mkdir(path.join(resources, "tray"), { recursive: true });
const images = new Map();
for (const size of [16, 24, 32, 48, 64, 128, 256, 512, 1024]) {
  images.set(size, await draw(icon, size, tile));
  await writeFile(path.join(resources, "icons", `${size}x${size}.png`), images.get(size).png);
}
await writeFile(path.join(resources, "icon.ico"), encodeIco([16, 24, 32, 48, 64, 128, 256].map((size) => images.get(size))));

const apple = [];
for (const size of [16, 32, 64, 128, 256, 512, 1024]) apple.push(await draw(icon, size, appleTile));
await writeFile(path.join(resources, "icon.icns"), encodeIcns(apple));

const mark = await read("mark.svg");
const template = await read("mark-template.svg");
for (const [name, svg, size] of [
  ["trayTemplate.png", template, 18],
  ["trayTemplate@2x.png", template, 36],
  ["tray-windows.png", mark, 16],
  ["tray-windows@2x.png", mark, 32],
  ["tray-linux.png", mark, 48],
]) {
  await writeFile(path.join(resources, "tray", name), (await draw(svg, size, square)).png);
}
await browser.close();
