// Shows a dashboard that is not in the binary: files of a folder under the content policy of the server,
// everything else is passed on. Only for trying; the server does this by itself.
import { existsSync, readFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import { connect } from 'node:net';
import { extname, join } from 'node:path';

const kPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const kTypes = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

export async function startFront(folder, apiPort) {
  const sockets = new Set();
  const server = createServer((request, response) => {
    const path = request.url.split('?')[0];
    const name = path === '/' ? 'index.html' : path === '/status' ? 'status.html' : /^\/assets\/[\w.-]+$/.test(path) ? path.slice(1) : null;
    if (name !== null && existsSync(join(folder, name))) {
      response.writeHead(200, { 'Content-Type': kTypes[extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': kPolicy });
      response.end(readFileSync(join(folder, name)));
      return;
    }
    const passed = ask({ host: '127.0.0.1', port: apiPort, method: request.method, path: request.url, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => {
    const up = connect(apiPort, '127.0.0.1', () => {
      const fields = request.rawHeaders.reduce((text, part, at) => text + part + (at % 2 === 0 ? ': ' : '\r\n'), '');
      up.write(`${request.method} ${request.url} HTTP/1.1\r\n${fields}\r\n`);
      up.write(head);
      up.pipe(socket);
      socket.pipe(up);
    });
    up.on('error', () => socket.destroy());
    up.on('close', () => socket.destroy());
    socket.on('error', () => up.destroy());
    socket.on('close', () => up.destroy());
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
