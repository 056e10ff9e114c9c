// The importer behind chrome://tracing, without a browser: reads a trace and prints what its model holds, as one line of JSON.
//
//   node catapult_import.cjs trace_viewer_full.html TRACE.json
'use strict';

const fs = require('node:fs');
const vm = require('node:vm');

const [viewer, trace] = process.argv.slice(2);

// The viewer is one page of many small scripts put together, each opening with a directive; the page's own code begins where its
// `global` is made. `isVinn` is the viewer's own switch for running without a page.
const page = fs.readFileSync(viewer, 'utf8');
const opening = "'use strict';";
const first = page.indexOf(`${opening}const global=`);
const code = page.slice(first, page.indexOf('</script>', first));

const context = { isVinn: true, console, setTimeout, performance, TextDecoder };
context.global = context;
vm.createContext(context);
for (const script of code.split(opening)) {
  try {
    vm.runInContext(opening + script, context);
  } catch {
    // Scripts that draw need a document; the importer and the model do not, and a missing one of those ends the run below.
  }
}

context.trace = fs.readFileSync(trace, 'utf8');
context.answer = (model) => console.log(JSON.stringify({
  slices: Object.values(model.processes)
    .flatMap((process) => Object.values(process.threads))
    .reduce((sum, thread) => sum + thread.sliceGroup.length + thread.asyncSliceGroup.length, 0),
  instants: model.instantEvents.length,
  counters: Object.values(model.processes).reduce((sum, process) => sum + Object.keys(process.counters).length, 0),
  flows: model.flowEvents.length,
  warnings: model.importWarnings.map((warning) => `${warning.type}: ${warning.message}`),
}));
vm.runInContext(`
  const options = new tr.importer.ImportOptions();
  options.showImportWarnings = false;
  const model = new tr.Model();
  new tr.importer.Import(model, options).importTraces([trace]);
  answer(model);
`, context);
