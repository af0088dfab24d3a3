// What is typed and pressed before the server is connected waits, and arrives in its order.
const connected = new Promise((resolve) => {
  const look = () => (window.did_handshake ? resolve() : setTimeout(look, 10));
  look();
});

// One labelled control of HTML's own: what is typed stays while the field has the focus, whoever else changes the value.
export default {
  props: { kind: String, label: String, hint: String, value: String, choices: Array, blocked: Boolean,
           id: String },
  emits: ["edit", "press"],
  data() {
    return { held: this.value, copied: "" };
  },
  watch: {
    value(text) {
      if (document.activeElement !== this.$refs.field || !["text", "lines"].includes(this.kind)) this.held = text;
    },
  },
  methods: {
    send(event, text) {
      connected.then(() => this.$emit(event, text));
    },
    edit(text) {
      this.held = text;
      this.send("edit", text);
    },
    leave() {
      // what was typed last may still be on its way to the server, which answers within this time
      setTimeout(() => {
        if (document.activeElement !== this.$refs.field) this.held = this.value;
      }, 1000);
    },
    copy() {
      navigator.clipboard.writeText(this.value).then(
        () => (this.copied = "copied"),
        () => (this.copied = "the browser refuses; select the text"),
      );
    },
  },
  template: `
    <span v-if="kind === 'button' || kind === 'cancel'" v-show="kind === 'button' || !blocked" class="control">
      <button ref="field" type="button" :disabled="blocked" @click="send('press', '')">{{ label }}</button>
    </span>
    <span v-else-if="kind === 'copy'" class="control">
      <button ref="field" type="button" @click="copy">{{ label }}</button><span role="status">{{ copied }}</span>
    </span>
    <span v-else-if="kind === 'check'" class="control check">
      <input ref="field" type="checkbox" :id="id + 'f'" :checked="held === 'yes'" :disabled="blocked"
        :aria-describedby="hint ? id + 'h' : null" @change="edit($event.target.checked ? 'yes' : '')">
      <label :for="id + 'f'">{{ label }}</label><small v-if="hint" :id="id + 'h'">{{ hint }}</small>
    </span>
    <span v-else class="control">
      <label :for="id + 'f'">{{ label }}</label>
      <select v-if="kind === 'select'" ref="field" :id="id + 'f'" :value="held" :disabled="blocked"
        :aria-describedby="hint ? id + 'h' : null" @change="edit($event.target.value)">
        <option v-for="choice in choices" :key="choice[0]" :value="choice[0]">{{ choice[1] }}</option>
      </select>
      <textarea v-else-if="kind === 'lines'" ref="field" :id="id + 'f'" :value="held" rows="3" spellcheck="false"
        :aria-describedby="hint ? id + 'h' : null" @input="edit($event.target.value)" @blur="leave"></textarea>
      <input v-else ref="field" type="text" :id="id + 'f'" :value="held" autocomplete="off" spellcheck="false"
        :aria-describedby="hint ? id + 'h' : null" @input="edit($event.target.value)" @blur="leave"
        @keydown.enter="send('press', '')">
      <small v-if="hint" :id="id + 'h'">{{ hint }}</small>
    </span>`,
};
