/// <reference types="vitest/config" />
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import solid from 'vite-plugin-solid';

const server = process.env['POLLUX_URL'] ?? 'http://127.0.0.1:7655';
const page = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  // Everything is relative to the page, so that the dashboard works under any path of a proxy.
  base: './',
  plugins: [solid()],
  build: {
    outDir: process.env['POLLUX_WEB_OUT'] ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The content policy of the server allows no inline code and the preload helper needs none.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: { input: { index: page('index.html'), status: page('status.html') } },
  },
  server: {
    host: '127.0.0.1',
    // The manifest reference of docs/ is help beside the editor.
    fs: { allow: ['..'] },
    proxy: {
      '/api': { target: server },
      '/ws': { target: server, ws: true },
    },
  },
  test: {
    environment: 'node',
    include: ['src/**/*.test.ts'],
    server: { deps: { inline: [/solid-js/] } },
  },
  resolve: { conditions: process.env['VITEST'] ? ['browser', 'development'] : [] },
});
