// The thread that reads one document and answers once. It is a program of its own in the build, which nothing imports, and
// loads only what its document needs: that is most of the time that it takes.

import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../core/errors.ts';
import type { Answer, Task } from './task.ts';

async function read(task: Task): Promise<Answer> {
  switch (task.kind) {
    case 'page': {
      const { articleOf, bareText } = await import('./article.ts');
      const { format, html, url } = task;
      return { value: format === 'text' ? bareText(html) : articleOf(html, new URL(url)) };
    }
    case 'results': {
      const { resultLinks } = await import('./result-page.ts');
      return { value: resultLinks(task.html) };
    }
    case 'pdf': {
      const { pdfFault, pdfText } = await import('./pdf.ts');
      return pdfText(task.bytes, task.range).then(
        (value) => ({ value }),
        (error: unknown) => ({ fault: pdfFault(error) }),
      );
    }
  }
}

async function answer(task: Task): Promise<Answer> {
  try {
    return await read(task);
  } catch (error) {
    return { fault: messageOf(error).replace(/[.\s]+$/, '') };
  }
}

answer(workerData as Task).then((given) => parentPort?.postMessage(given));
